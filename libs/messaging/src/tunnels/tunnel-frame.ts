/**
 * One message of a tunnel: a byte for its kind, four for its number in its direction, then the payload. Core NATS drops
 * what is published while a connection is away, and the numbers show it.
 */
export interface TunnelFrame {
  readonly kind: FrameKind;
  readonly number: number;
  readonly payload: Uint8Array;
}

/**
 * `data` · `credit`: so many more bytes may be sent (four bytes) · `end`: no more data follows · `reset`: the tunnel failed
 * (JSON: code, message) · `alive`: nothing to say.
 */
export type FrameKind = (typeof kinds)[number];

const kinds = ['data', 'credit', 'end', 'reset', 'alive'] as const;
const headBytes = 5;

export function encodeTunnelFrame({ kind, number, payload }: TunnelFrame): Uint8Array {
  const frame = Buffer.allocUnsafe(headBytes + payload.length);
  frame.writeUInt8(kinds.indexOf(kind), 0);
  frame.writeUInt32BE(number >>> 0, 1); // wraps after 2^32 frames, as the receiver's count does
  frame.set(payload, headBytes);
  return frame;
}

/** Undefined for bytes that are no frame. */
export function decodeTunnelFrame(bytes: Uint8Array): TunnelFrame | undefined {
  if (bytes.length < headBytes) return undefined;
  const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = kinds[frame.readUInt8(0)];
  return kind && { kind, number: frame.readUInt32BE(1), payload: frame.subarray(headBytes) };
}
