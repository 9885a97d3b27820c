/** pino's shape. Sandboxes log decisions, never commands or output. */
export interface SandboxLog {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
}
