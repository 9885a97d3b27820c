import { z } from 'zod';

const pixels = z.number().int().nonnegative().catch(0);

/** What the in-page script tells of a page. It runs beside hostile scripts, so everything is bounded again. */
export const pageDescription = z.object({
  url: z.string().max(2_000),
  title: z.string().max(500),
  elements: z.string().max(20_000),
  element_count: pixels,
  is_cut: z.boolean(),
  pixels_above: pixels,
  pixels_below: pixels,
  status: pixels,
});
export type PageDescription = z.infer<typeof pageDescription>;

export interface TabView {
  readonly page_id: number;
  readonly title: string;
  readonly url: string;
  readonly is_active: boolean;
}

/** What is seen after an action. */
export interface Observation extends PageDescription {
  readonly tabs: readonly TabView[];
  /** JPEG, as base64. */
  readonly screenshot: string | undefined;
  /** What happened besides: dialogs, downloads, new tabs. */
  readonly notes: readonly string[];
}
