import type { ReplyChunk } from '@rondo/domain';
import { ProviderError } from '../provider-error';
import type { ToolCallDelta } from './openai-chunk';

/** Of arguments whose call is not named yet: they are not counted before they are passed on. */
const mostUnnamed = 1_000_000;

interface OpenCall {
  readonly index: number;
  readonly id: string | undefined;
  named: boolean;
  /** Arguments that came before the name. */
  early: string;
  argued: boolean;
}

/**
 * Tells the calls of a reply apart. OpenAI numbers them and names each once; the servers that imitate it leave ids
 * out, send whole calls at once, number each from 0 again, or number none.
 */
export class CallAssembly {
  private readonly open = new Map<number, OpenCall>();
  private latest: OpenCall | undefined;
  private count = 0;

  get any(): boolean {
    return this.count > 0;
  }

  add(delta: ToolCallDelta, chunks: ReplyChunk[]): void {
    const known = this.continued(delta);
    const call = known ?? this.start(delta);
    const name = delta.function?.name;
    if (name && !call.named) {
      call.named = true;
      chunks.push({ type: 'call_start', index: call.index, name });
    }
    const written = delta.function?.arguments;
    const text = typeof written === 'object' && written !== null ? JSON.stringify(written) : (written ?? '');
    this.argue(call, text, chunks);
  }

  private argue(call: OpenCall, text: string, chunks: ReplyChunk[]): void {
    if (text !== '') call.argued = true;
    if (!call.named) {
      call.early += text;
      if (call.early.length > mostUnnamed)
        throw new ProviderError('api_error', 'The provider sent arguments of a tool call and no name.');
      return;
    }
    const all = call.early + text;
    call.early = '';
    if (all !== '') chunks.push({ type: 'call_arguments', index: call.index, text: all });
  }

  /** The call that a delta goes on with; undefined where it begins another one. */
  private continued({ index, id, function: said }: ToolCallDelta): OpenCall | undefined {
    const call = typeof index === 'number' ? this.open.get(index) : this.latest;
    if (!call) return undefined;
    if (id) return call.id === undefined || call.id === id ? call : undefined;
    return said?.name && call.named && call.argued ? undefined : call;
  }

  private start({ index, id }: ToolCallDelta): OpenCall {
    const call: OpenCall = { index: this.count++, id: id ?? undefined, named: false, early: '', argued: false };
    this.open.set(index ?? call.index, call);
    this.latest = call;
    return call;
  }
}
