interface Line {
  name: string;
  ms?: number;
  detail?: string;
}

export interface Progress {
  done(line: Line): void;
  warn(line: Line): void;
  failed(line: Line): void;
  note(text: string): void;
}

export const terminal: Progress;
export const silent: Progress;
