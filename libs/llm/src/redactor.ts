const maxLength = 500;

/** What every maker's keys look like; servers like to quote the one that they refuse. */
const keyLike = /\b(?:sk|pk|gsk|xai)-[\w*-]{6,}|Bearer\s+[\w.~+/-]{6,}=*/g;

/** Makes words of a provider fit to be shown and stored: short, and without the secrets that were sent to it (I12). */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length >= 6);
  return (text) => {
    const plain = long.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text).replace(keyLike, '[secret]');
    return plain.length > maxLength ? `${plain.slice(0, maxLength)}…` : plain;
  };
}
