/** Lets the browser store this under a name. It is fetched with the session first, because a link alone does not say who asks. */
export function saveAs(name: string, content: Blob | string): void {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content]) : content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // after the browser has begun to read it
}
