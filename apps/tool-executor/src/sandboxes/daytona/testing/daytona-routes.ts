import type { CreateSandbox } from '@daytona/api-client';
import type { ExecuteRequest } from '@daytona/toolbox-api-client';
import type { ControlPlane } from './control-plane';
import { listParts } from './multipart';

export interface Asked {
  /** The method and the path, with `:id` in place of a sandbox's id. */
  readonly route: string;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export const failed = (statusCode: number, message: string): Answer => ({
  status: statusCode,
  body: { statusCode, message, error: message, timestamp: new Date().toISOString() },
});

const found = (body: unknown): Answer => (body === undefined ? failed(404, 'not found') : { status: 200, body });

const signedPreview = /^GET \/api\/sandbox\/:id\/ports\/(\d+)\/signed-preview-url$/;
const killedTerminal = /^DELETE \/toolbox\/:id\/process\/pty\/([^/]+)$/;

/** The calls of Daytona that the provider uses. */
export async function answerTo(asked: Asked, control: ControlPlane): Promise<Answer> {
  const { route, id, query } = asked;
  const terminal = killedTerminal.exec(route)?.[1];
  if (terminal !== undefined) return found(control.findMachine(id)?.killTerminal(terminal) ?? {});
  const port = signedPreview.exec(route)?.[1];
  if (port !== undefined) return found(control.signPreview(id, Number(port), query.get('expiresInSeconds')));
  switch (route) {
    case 'POST /api/sandbox':
      return found(control.create(parsed(asked.body) as CreateSandbox));
    case 'GET /api/sandbox': {
      const labels = parsed(query.get('labels') ?? '{}') as Record<string, string>;
      return found(control.list(labels, query.get('cursor') ?? undefined));
    }
    case 'GET /api/sandbox/:id':
      return found(control.get(id));
    case 'POST /api/sandbox/:id/start':
      return found(control.start(id));
    case 'POST /api/sandbox/:id/stop':
      return found(control.stop(id));
    case 'POST /api/sandbox/:id/archive': {
      const archived = control.archive(id);
      return archived === 'running' ? failed(400, 'the sandbox is not stopped') : found(archived);
    }
    case 'POST /api/sandbox/:id/last-activity':
      return found(control.get(id));
    case 'POST /api/sandbox/:id/recover':
      return found(control.start(id));
    case 'DELETE /api/sandbox/:id':
      return found(control.delete(id));
    case 'POST /toolbox/:id/process/execute':
      return execute(asked, control);
    case 'POST /toolbox/:id/files/bulk-upload':
      return upload(asked, control);
    default:
      return failed(404, `the test server has no ${route}`);
  }
}

async function execute({ id, body }: Asked, control: ControlPlane): Promise<Answer> {
  const machine = control.findMachine(id);
  if (!machine) return failed(400, 'the sandbox is not started');
  const answer = await machine
    .execute(parsed(body) as ExecuteRequest)
    .catch(() => failed(502, 'the sandbox has stopped'));
  if (answer === undefined) return failed(408, 'command execution timeout');
  return 'status' in answer ? answer : found(answer);
}

async function upload({ id, body, contentType }: Asked, control: ControlPlane): Promise<Answer> {
  const machine = control.findMachine(id);
  if (!machine) return failed(400, 'the sandbox is not started');
  const parts = listParts(body, contentType);
  const [path, content] = [parts.get('files[0].path'), parts.get('files[0].file')];
  if (!path || !content) return failed(400, 'no file');
  await machine.upload(path.toString(), content);
  return found({});
}

/** The SDK alone calls this server, so that each caller of this knows the type. */
const parsed = (body: Buffer | string): unknown => JSON.parse(body.toString());
