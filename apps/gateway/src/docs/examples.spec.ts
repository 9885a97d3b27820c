import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { RunningGateway } from '../testing/running-gateway';

interface Media {
  readonly schema: { readonly $ref?: string; readonly format?: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
}

interface Described {
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly example?: unknown;
    readonly schema: object;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly examples: Readonly<Record<string, { readonly value: unknown }>> };
}

const gateway = RunningGateway.forSuite();
let document: Document;
let ajv: Ajv2020;
beforeAll(async () => {
  document = (await gateway.anonymous.get('/openapi.json').expect(200)).body as Document;
  ajv = new Ajv2020({ strict: false, allErrors: true, formats: { binary: true, base64: true } });
  addFormats(ajv);
  ajv.addSchema(document, 'openapi');
});

const isBinary = ({ schema }: Media): boolean => schema.format === 'binary';

/** Bodies and answers, each with the place that it is at. Bytes have no example. */
const listMedia = ({ requestBody, responses }: Described): [string, Media][] => [
  ...Object.entries(requestBody?.content ?? {}).map(([type, media]): [string, Media] => [`body ${type}`, media]),
  ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.entries(content).map(([type, media]): [string, Media] => [`${status} ${type}`, media]),
  ),
];

const listValues = ({ example, examples = {} }: Media): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ $ref = '', value }) =>
    value === undefined ? document.components.examples[$ref.replace('#/components/examples/', '')]?.value : value,
  ),
];

/** Undefined for a valid one. */
function findError(schema: object, value: unknown): string | undefined {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object;
  return ajv.validate(absolute, value) ? undefined : ajv.errorsText();
}

function listFaults(operation: Described): string[] {
  const ofMedia = listMedia(operation)
    .filter(([, media]) => !isBinary(media))
    .flatMap(([place, media]) => {
      const values = listValues(media);
      if (values.length === 0) return [`${place} has no example`];
      return values.flatMap((value) => {
        const error = value === undefined ? 'it is not there' : findError(media.schema, value);
        return error === undefined ? [] : [`${place}: ${error}`];
      });
    });
  const ofParameters = (operation.parameters ?? [])
    .filter(({ required, example }) => required === true || example !== undefined)
    .flatMap(({ name, schema, example }) => {
      const error = example === undefined ? 'no example' : findError(schema, example);
      return error === undefined ? [] : [`parameter ${name}: ${error}`];
    });
  return [...ofMedia, ...ofParameters];
}

describe('the OpenAPI document', () => {
  it('has an example of every body, answer, problem and required parameter, valid by its schema', () => {
    const faults = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) =>
        listFaults(operation).map((fault) => `${method} ${path}: ${fault}`),
      ),
    );
    expect(faults).toEqual([]);
  });

  it('says with bytes what they are', () => {
    const put = document.paths['/v1/sandboxes/{sandbox_id}/files/content']?.['put'];
    expect(Object.keys(put?.requestBody?.content ?? {})).toEqual(['application/octet-stream']);
  });

  it('would not accept an example that is wrong', () => {
    const media = document.paths['/v1/runs']?.['post']?.requestBody?.content['application/json'];
    expect(findError(media?.schema ?? {}, { input: 7 })).toContain('input');
    expect(findError(media?.schema ?? {}, { inptu: 'Go.' })).toContain('additional properties');
  });
});
