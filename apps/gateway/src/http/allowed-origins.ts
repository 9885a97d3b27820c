import { z } from 'zod';

/** An origin as browsers write it: no path, and no port that its protocol has by itself. */
export const pageOrigin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: ({ input }) => `${String(input)} is no origin: write it as https://app.example.com or http://localhost:5173`,
});

/**
 * For pages of other origins that call the API with a key of their own (CORS). They get no cookie: a session only counts on
 * pages of the gateway's origin.
 */
export const toCorsOptions = (origins: readonly string[]) => ({
  origin: [...origins],
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  exposedHeaders: [
    ...['Content-Disposition', 'Idempotent-Replayed', 'Location', 'X-Has-More', 'X-Next-Cursor'],
    ...['Retry-After', 'RateLimit', 'RateLimit-Policy'],
    // Those that clients of façades read.
    ...[
      'Content-Location',
      'Mcp-Session-Id',
      'Request-Id',
      'X-Request-Id',
      'X-Should-Retry',
      'X-Vercel-AI-UI-Message-Stream',
    ],
  ],
  maxAge: 600,
});
