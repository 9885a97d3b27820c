/** What is less has no digits left. */
const smallest = 0.0001;

/** With four digits. A very small amount is not zero. */
export function toDollars(usd: number): string {
  if (usd < 0) return `minus ${toDollars(-usd)}`;
  return usd > 0 && usd < smallest ? `under $${smallest}` : `$${usd.toFixed(4)}`;
}
