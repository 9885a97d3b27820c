'use strict';
const sharp = require('sharp');
const { Refusal } = require('./refusal.cjs');

/** Worse, until it is small enough. */
const qualities = [85, 70, 50, 30];

sharp.cache(false);
sharp.concurrency(1);

/** The first frame, upright, scaled to fit, as a JPEG on white without the original's metadata. */
async function convertImage(bytes, { width, height, pixels, maxBytes }) {
  const open = () => sharp(bytes, { limitInputPixels: pixels, failOn: 'error', pages: 1 });
  const { format, width: originalWidth, height: originalHeight } = await readable(open().metadata(), pixels);
  for (const quality of qualities) {
    const scaled = open()
      .rotate()
      .resize({ width, height, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#fff' })
      .jpeg({ quality });
    const { data } = await readable(scaled.toBuffer({ resolveWithObject: true }), pixels);
    if (data.length <= maxBytes) return { format, originalWidth, originalHeight, bytes: data };
  }
  throw new Refusal(`it is larger than ${maxBytes} bytes however it is compressed`);
}

async function readable(work, pixels) {
  try {
    return await work;
  } catch (error) {
    if (/pixel limit/i.test(String(error))) throw new Refusal(`it has more than ${pixels} pixels`);
    throw error;
  }
}

module.exports = { convertImage };
