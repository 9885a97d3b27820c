import { exampleIds as ids } from '@rondo/contract/api';

const sums = {
  calls: 42,
  input_tokens: 201_600,
  cached_tokens: 129_000,
  output_tokens: 16_400,
  cost_usd: 0.2646,
  unpriced_calls: 0,
  estimated_calls: 0,
  charged_usd: 0.3969,
};

/** Of usage, and files in sandboxes. */
export const accountExamples = {
  UsageReport: {
    data: [{ ...sums, day: '2026-11-25', model: 'openai/gpt-5' }],
    total: sums,
    has_more: false,
  },
  UsageEntry: {
    id: ids.modelCall,
    run_id: ids.run,
    thread_id: ids.thread,
    agent_id: null,
    iteration: 1,
    model: 'openai/gpt-5',
    finish_reason: 'tool_calls',
    input_tokens: 2310,
    cached_tokens: 1536,
    output_tokens: 205,
    cost_usd: 0.0032,
    estimated: false,
    duration_ms: 2840,
    created_at: '2026-11-25T09:00:03.000Z',
    price_factor: 1.5,
    charged_usd: 0.0048,
  },
};
