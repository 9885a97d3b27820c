import { type Task, isAboutPdf } from './task';

/** The names of the blocks in which providers take a PDF. */
export type DocumentForm = 'file' | 'input_file' | 'image_url' | 'document';

const pdf = 'JVBERi'; // `%PDF` as base64
const whole: Record<DocumentForm, RegExp> = {
  file: new RegExp(`"file_data":"data:application/pdf;base64,${pdf}`),
  input_file: new RegExp(`"file_data":"data:application/pdf;base64,${pdf}`),
  image_url: new RegExp(`"url":"data:application/pdf;base64,${pdf}`),
  document: new RegExp(`"media_type":"application/pdf","data":"${pdf}`),
};

/** The blocks of a request that hold a PDF, by their types. */
export function findDocuments(body: string): { readonly type: string; readonly text: string }[] {
  const found: { type: string; text: string }[] = [];
  JSON.parse(body, (_, value: unknown) => {
    const type = typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : '';
    const text = type in whole ? JSON.stringify(value) : '';
    if (text.includes('application/pdf') || type === 'file' || type === 'input_file') found.push({ type, text });
    return value;
  });
  return found;
}

/** A provider takes PDFs in its own form, or knows none; the task of a PDF has one as long as its question is in the context. */
export function refuseDocuments(form: DocumentForm | undefined, body: string, task: Task): string | undefined {
  const shown = findDocuments(body);
  for (const { type, text } of shown) {
    if (type !== form) return `Invalid value: '${type}'. This model does not take a file of the type application/pdf.`;
    if (!whole[form].test(text)) return 'The document could not be parsed.';
  }
  if (!isAboutPdf(task) || !body.includes(`[task ${task.id} `)) return undefined;
  if (!body.includes('[Uploaded File: /workspace/')) return 'The path of the document is missing.';
  return form !== undefined && shown.length === 0 ? 'The document is missing.' : undefined;
}

/** What a model says that sees what an examination shows it. */
export function answerExamination(body: string): string {
  if (body.includes('Which word is in this document?') && findDocuments(body).length > 0) return 'lantern';
  return body.includes('Which colour is this image?') && body.includes('image/png') ? 'red' : 'ok';
}
