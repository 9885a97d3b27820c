import { z } from 'zod';
import { defineTool } from './define-tool';

export const seeImage = defineTool({
  name: 'see_image',
  description:
    'Look at an image file of the workspace: JPEG, PNG, GIF (its first frame) or WebP, 10 MB at most. You see it, scaled ' +
    'down to 1920 x 1080 if it is larger, with the result of this call.',
  input: z.strictObject({
    file_path: z.string().min(1).max(4_096).describe('Path of the image, relative to /workspace.'),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 60_000,
  group: 'files',
  example: { file_path: 'screenshots/home.png' },
  xml: { attributes: ['file_path'] },
});
