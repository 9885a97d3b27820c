import { roundUsd } from '@rondo/contract';
import { z } from 'zod';

const usd = z.number().nonnegative().nullish().catch(undefined);

/** The fields of `usage` in which a provider says what a call costs, in USD. */
export const costFields = {
  cost: usd,
  /** OpenRouter: the request went to the model's maker with the customer's own key there. */
  is_byok: z.boolean().nullish().catch(undefined),
  cost_details: z.object({ upstream_inference_cost: usd }).nullish().catch(undefined),
};

type ReportedCost = z.infer<z.ZodObject<typeof costFields>>;

/** With a key of one's own, `cost` is OpenRouter's fee alone, often 0: what the model's maker charges is added to it. */
export function readCost({ cost, is_byok, cost_details }: ReportedCost): number | undefined {
  if (typeof cost !== 'number' || !is_byok) return cost ?? undefined;
  const upstream = cost_details?.upstream_inference_cost;
  return typeof upstream === 'number' ? roundUsd(cost + upstream) : undefined;
}
