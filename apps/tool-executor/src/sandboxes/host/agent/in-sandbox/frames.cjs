'use strict';

/** A frame is four bytes of length (big endian) and that much JSON. Both sides limit the length that they accept. */
const maximumFrameBytes = 8 * 1024 * 1024;

function encodeFrame(message) {
  const body = Buffer.from(JSON.stringify(message));
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame.writeUInt32BE(body.length, 0);
  body.copy(frame, 4);
  return frame;
}

/** Calls `onMessage` with every complete frame of a stream that arrives in arbitrary chunks. */
function createFrameReader(onMessage) {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (pending.length >= 4) {
      const length = pending.readUInt32BE(0);
      if (length > maximumFrameBytes) throw new Error('frame too large');
      if (pending.length < 4 + length) return;
      const body = pending.subarray(4, 4 + length);
      pending = pending.subarray(4 + length);
      onMessage(JSON.parse(body.toString('utf8')));
    }
  };
}

module.exports = { encodeFrame, createFrameReader };
