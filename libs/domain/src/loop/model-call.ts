import { usageFactFor } from './model-usage';
import type { ModelEnd, ModelRequest } from '../models/model';
import { type LoopContext, type Step, factsStep } from './loop-context';
import type { Reply } from './reply';
import type { NewFact } from '@rondo/contract';

/** How a call of the model ended, and the fact of what it cost. */
export interface ModelCallResult {
  readonly end: ModelEnd;
  usage(finishReason: string): NewFact;
}

/** One call of the model: what it says goes into the reply. A reply that is full hears no more, and the stream is closed. */
export async function* callModel(
  loop: LoopContext,
  reply: Reply,
  prompt: ModelRequest,
): AsyncGenerator<Step, ModelCallResult> {
  const { ids, clock, model } = loop.ports;
  const call = { model: loop.run.settings.model, iteration: loop.state.iteration, beganAt: clock.now() };
  let firstOutputAt: string | undefined;
  const { stop } = loop.signals;
  const enough = new AbortController();

  for await (const chunks of model.stream(prompt, AbortSignal.any([stop, enough.signal]))) {
    for (const chunk of chunks) {
      switch (chunk.type) {
        case 'retried':
          yield factsStep(loop, retried(loop, chunk));
          break;
        case 'end':
          return {
            end: chunk,
            usage: (finishReason) => usageFactFor({ call, finishReason, firstOutputAt }, chunk, { ids, clock }),
          };
        case 'text':
        case 'reasoning':
        case 'reasoning_end':
        case 'call_start':
        case 'call_arguments':
          firstOutputAt ??= clock.now();
          if (!reply.isFull) for (const step of reply.hear(chunk)) yield step;
          if (reply.isFull) enough.abort();
      }
    }
  }
  throw new Error('a model ended its stream without saying how');
}

const retried = (
  { state: { iteration } }: LoopContext,
  { attempt, delayMs, error }: { attempt: number; delayMs: number; error: { code: string; message: string } },
): NewFact => ({ type: 'model.retried', iteration, data: { attempt, delay_ms: delayMs, error } });
