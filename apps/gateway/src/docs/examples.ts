import type { OpenAPIObject } from '@nestjs/swagger';
import {
  type ProblemBody,
  type ProblemCode,
  apiSchemas,
  exampleBalance,
  exampleIds as ids,
  problemStatus,
} from '@rondo/contract/api';
import { z } from 'zod';
import { problem } from '../problems/api-error';
import { schemaPath } from './describe-schemas';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Content = Record<string, { schema?: unknown; example?: unknown; examples?: unknown }>;

const examples: Readonly<Record<string, unknown>> = Object.fromEntries(
  apiSchemas.flatMap(({ examples: given = {} }) => Object.entries(given)),
);

/** What some problems say beside their code. */
const problemDetails: Partial<Record<ProblemCode, Omit<Partial<ProblemBody>, 'code'>>> = {
  invalid_request: {
    detail: 'limits.max_iterations is not valid.',
    errors: [{ field: 'limits.max_iterations', message: 'must be at least 1' }],
  },
  thread_busy: { detail: 'The thread has an active run.', active_run_id: ids.run },
  idempotency_key_used: {
    detail:
      'The request with this key was carried out. Its answer is not kept, because what it may have is shown once.',
    resource: `/v1/api-keys/${ids.key}`,
  },
  balance_exhausted: {
    detail: 'The tier free allows 5 USD per month, and this account has spent 5.0100 USD and has no credit left.',
    balance: { ...exampleBalance, spent_usd: 5.01, reserved_usd: 0, credit_usd: 0, available_usd: -0.01 },
  },
  model_not_allowed: {
    detail: 'The tier free does not allow this model.',
    allowed_models: ['openai/gpt-5-mini'],
  },
};

const problemCodes = Object.keys(problemStatus) as ProblemCode[]; // its own keys

/** An example of each problem, by its code. */
const problemExamples = Object.fromEntries(
  problemCodes.map((code) => [code, { value: { ...problem(code), ...problemDetails[code] } }]),
);

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/**
 * Adds an example to each body, answer and problem; parameters bring theirs with them, and so do bodies that are no named
 * schema. A test holds every operation to having some, and all of them to their schemas.
 */
export function withExamples(document: OpenAPIObject): OpenAPIObject {
  const known = new KnownExamples(document);
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const described = methods.flatMap((method) => {
      const operation = item[method];
      return operation ? [[method, addExamples(operation, known)] as const] : [];
    });
    return [path, { ...item, ...Object.fromEntries(described) }] as const;
  });
  const components = { ...document.components, examples: known.listUsed() };
  return { ...document, paths: Object.fromEntries(paths), components };
}

/** The examples of schemas, and which of them the document refers to. */
class KnownExamples {
  private readonly schemas: Readonly<Record<string, object>>;
  private readonly names = new Set<string>();

  constructor({ components }: OpenAPIObject) {
    this.schemas = components?.schemas ?? {};
  }

  toContent<Given extends Content>(content: Given): Given {
    const described = Object.entries(content).map(([type, media]) => {
      const name = findName(media.schema);
      const isKnown = name !== undefined && media.examples === undefined && this.valueOf(name) !== undefined;
      return [type, isKnown ? { ...media, examples: { [name]: this.reference(name) } } : media] as const;
    });
    return Object.fromEntries(described) as Given; // the same types of content, each with more
  }

  listUsed(): Record<string, { value: unknown }> {
    return {
      ...Object.fromEntries([...this.names].sort().map((name) => [name, { value: this.valueOf(name) }])),
      ...problemExamples,
    };
  }

  private reference(name: string) {
    this.names.add(name);
    return { $ref: `#/components/examples/${name}` };
  }

  /** The schema's own example counts where there is none here; that of a list follows from its items. */
  private valueOf(name: string): unknown {
    const schema = this.schemas[name] ?? {};
    const own = examples[name] ?? toFirst(schema);
    const item = findItem(schema);
    if (own !== undefined || item === undefined) return own;
    return { data: [this.valueOf(item)], has_more: false, next_cursor: null };
  }
}

const page = z.object({ properties: z.object({ data: z.object({ items: z.unknown() }), next_cursor: z.unknown() }) });

/** The name of the items of a list. */
function findItem(schema: object): string | undefined {
  const { data } = page.safeParse(schema);
  return data && findName(data.properties.data.items);
}

const toFirst = (schema: object): unknown =>
  'examples' in schema && Array.isArray(schema.examples) ? (schema.examples as unknown[])[0] : undefined;

function addExamples(operation: Operation, known: KnownExamples): Operation {
  const { requestBody, responses } = operation;
  const answers = Object.entries(responses).map(([status, response]) => {
    const content = response && 'content' in response ? response.content : undefined;
    return [status, content ? { ...response, content: known.toContent(content) } : response];
  });
  return {
    ...operation,
    ...(requestBody &&
      'content' in requestBody && {
        requestBody: { ...requestBody, content: known.toContent(requestBody.content) },
      }),
    responses: Object.fromEntries(answers) as Operation['responses'],
  };
}

/** Of a reference to a named schema. */
function findName(schema: unknown): string | undefined {
  const isReference = typeof schema === 'object' && schema !== null && '$ref' in schema;
  return isReference ? String(schema.$ref).replace(schemaPath, '') : undefined;
}
