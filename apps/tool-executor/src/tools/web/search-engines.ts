import { z } from 'zod';
import type { ServiceRequest } from '../../services/service-client';

export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

export interface SearchAnswer {
  readonly answer?: string | undefined;
  readonly pages: readonly FoundPage[];
  /** URLs. */
  readonly images: readonly string[];
}

/** How the API of a search engine is asked, as data. */
export interface SearchEngine {
  readonly title: string;
  /** The most results that it returns. */
  readonly mostResults: number;
  readonly request: (query: string, results: number, key: string) => ServiceRequest;
  readonly answer: z.ZodType<SearchAnswer>;
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const page = z.object({ title: text, url: z.string() });

const tavily = z.object({
  answer: z.string().nullish(),
  results: z.array(page.extend({ content: text })).default([]),
  images: z.array(z.union([z.string(), z.object({ url: z.string() })])).default([]),
});

const brave = z.object({
  web: z.object({ results: z.array(page.extend({ description: text })).default([]) }).nullish(),
});

const serper = z.object({
  answerBox: z.object({ answer: z.string().optional(), snippet: z.string().optional() }).optional(),
  organic: z.array(z.object({ title: text, link: z.string(), snippet: text })).default([]),
});

const serpapi = z.object({
  answer_box: z.object({ answer: z.string().optional(), snippet: z.string().optional() }).optional(),
  organic_results: z.array(z.object({ title: text, link: z.string(), snippet: text })).default([]),
});

const jina = z.object({ data: z.array(page.extend({ description: text })).default([]) });

const searxng = z.object({
  results: z.array(page.extend({ content: text, img_src: z.string().nullish() })).default([]),
  answers: z.array(z.union([z.string(), z.object({ answer: z.string() })])).default([]),
});

/** In the order in which they are preferred when several are configured. */
export const searchEngines = {
  tavily: {
    title: 'Tavily',
    mostResults: 20,
    request: (query, max_results, key) => ({
      method: 'POST',
      path: '/search',
      headers: { authorization: `Bearer ${key}` },
      body: { query, max_results, search_depth: 'advanced', include_answer: 'advanced', include_images: true },
    }),
    answer: tavily.transform(({ answer, results, images }) => ({
      answer: answer ?? undefined,
      pages: results.map(({ title, url, content }) => ({ title, url, text: content })),
      images: images.map((image) => (typeof image === 'string' ? image : image.url)),
    })),
  },
  brave: {
    title: 'Brave Search',
    mostResults: 20,
    request: (q, results, key) => ({
      method: 'GET',
      path: '/res/v1/web/search',
      query: { q, count: String(results) },
      headers: { 'x-subscription-token': key },
    }),
    answer: brave.transform(({ web }) => ({
      pages: (web?.results ?? []).map(({ title, url, description }) => ({ title, url, text: description })),
      images: [],
    })),
  },
  serper: {
    title: 'Serper',
    mostResults: 50,
    request: (q, num, key) => ({ method: 'POST', path: '/search', headers: { 'x-api-key': key }, body: { q, num } }),
    answer: serper.transform(({ answerBox, organic }) => ({
      answer: answerBox?.answer ?? answerBox?.snippet,
      pages: organic.map(({ title, link, snippet }) => ({ title, url: link, text: snippet })),
      images: [],
    })),
  },
  serpapi: {
    title: 'SerpApi',
    mostResults: 50,
    request: (q, results, key) => ({
      method: 'GET',
      path: '/search.json',
      query: { engine: 'google', q, num: String(results), api_key: key },
    }),
    answer: serpapi.transform(({ answer_box, organic_results }) => ({
      answer: answer_box?.answer ?? answer_box?.snippet,
      pages: organic_results.map(({ title, link, snippet }) => ({ title, url: link, text: snippet })),
      images: [],
    })),
  },
  searxng: {
    title: 'SearXNG',
    mostResults: 50,
    request: (q) => ({ method: 'GET', path: '/search', query: { q, format: 'json' } }),
    answer: searxng.transform(({ results, answers }) => ({
      answer: answers.map((one) => (typeof one === 'string' ? one : one.answer)).join('\n') || undefined,
      pages: results.map(({ title, url, content }) => ({ title, url, text: content })),
      images: results.flatMap(({ img_src }) => img_src || []),
    })),
  },
  jina: {
    title: 'Jina',
    mostResults: 20,
    request: (q, num, key) => ({
      method: 'POST',
      path: '/',
      headers: { authorization: `Bearer ${key}`, 'x-respond-with': 'no-content' },
      body: { q, num },
    }),
    answer: jina.transform(({ data }) => ({
      pages: data.map(({ title, url, description }) => ({ title, url, text: description })),
      images: [],
    })),
  },
} as const satisfies Record<string, SearchEngine>;
