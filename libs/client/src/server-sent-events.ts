/**
 * The data of server-sent events, however the bytes are split, in groups of what arrives together: to await each one would cost
 * more than to read it. An event that the end cuts off is dropped. `heard` is called for whatever arrives, comments too.
 */
export async function* dataOfEvents(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<readonly string[], void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const lines = new Lines();
  let data: string | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const events: string[] = [];
      for (const line of lines.push(decoder.decode(value, { stream: true }))) {
        if (line.startsWith('data:')) {
          const text = line.slice(line.startsWith('data: ') ? 6 : 5);
          data = data === undefined ? text : `${data}\n${text}`;
        }
        if (line !== '' || data === undefined) continue;
        events.push(data);
        data = undefined;
      }
      if (events.length > 0) yield events;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it may have failed already
  }
}

/** Lines end with LF, CR LF or CR. */
class Lines {
  private pieces: string[] = [];
  private endedWithReturn = false;

  push(text: string): string[] {
    const rest = this.endedWithReturn && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.endedWithReturn = text.endsWith('\r');
    const lines = rest.split(rest.includes('\r') ? /\r\n|\r|\n/ : '\n'); // almost always the latter, which is faster
    const last = lines.pop() ?? '';
    const [first] = lines;
    if (first === undefined) {
      this.pieces.push(last); // joined once: a long line arrives in many pieces
      return lines;
    }
    lines[0] = [...this.pieces, first].join('');
    this.pieces = [last];
    return lines;
  }
}
