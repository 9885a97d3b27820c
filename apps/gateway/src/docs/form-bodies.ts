import type { OpenAPIObject } from '@nestjs/swagger';
import { mostFiles } from '../files/form-bodies';
import { formExtension } from '../http/body.guard';

type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;

/** Adds to every route that takes its body as a form the description of that form. */
export const withForms = (document: OpenAPIObject): OpenAPIObject => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path,
      item.post ? { ...item, post: withForm(item.post) } : item,
    ]),
  ),
});

function withForm(operation: Operation): Operation {
  const { [formExtension]: text, ...described } = operation as Operation & { [formExtension]?: string }; // set by `TakesForm`
  const body = described.requestBody;
  if (text === undefined || body === undefined || !('content' in body)) return described;
  const schema = body.content['application/json']?.schema ?? {};
  const form = {
    type: 'object',
    properties: {
      files: { type: 'array', maxItems: mostFiles, items: { type: 'string', format: 'binary' } },
      [text]: { type: 'string' },
      body: {
        type: 'string',
        description: 'The other fields as JSON.',
        contentMediaType: 'application/json',
        contentSchema: schema,
      },
    },
  } as const;
  const example = { [text]: 'Sum up the attached sales.' };
  return {
    ...described,
    requestBody: { ...body, content: { ...body.content, 'multipart/form-data': { schema: form, example } } },
  };
}
