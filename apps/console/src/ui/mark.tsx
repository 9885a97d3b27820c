/** A circle that closes in a dot: a rondo comes back to where it began. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
      <circle cx="16" cy="17" r="10.5" fill="none" stroke="currentColor" strokeWidth="3.5" />
      <circle cx="16" cy="6.5" r="4.5" fill="currentColor" />
    </svg>
  );
}
