import { z } from 'zod';
import { defineTool } from './define-tool';

export const textExtract = defineTool({
  name: 'text_extract',
  description:
    'Read the text of a document of the workspace: PDF, Word (docx), Excel (xlsx), PowerPoint (pptx), CSV, HTML or plain ' +
    'text. A text that is too long for one result is saved as a file, to be read on with read_file.',
  input: z.strictObject({
    file_path: z.string().min(1).max(4_096).describe('Path of the document, relative to /workspace.'),
  }),
  effect: 'idempotent',
  runsIn: 'executor',
  exclusive: 'file',
  timeoutMs: 120_000,
  group: 'files',
  example: { file_path: 'report.pdf' },
  xml: { attributes: ['file_path'] },
});
