/** An error as the clients of a façade read it. */
export interface FacadeError {
  readonly contentType: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: that of the problem. */
  readonly status?: number;
}
