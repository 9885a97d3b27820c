import { z } from 'zod';

/** Of the gateway, which serves previews, and of executors, which make their URLs. */
export const previewUrl = z
  .string()
  .regex(/^https?:\/\/\*\.[a-z0-9.-]+(:\d+)?$/i, 'must be like https://*.preview.example.org')
  .optional()
  .meta({
    description:
      'Where servers in sandboxes are published by `expose_port`: a URL of the gateway whose `*` stands for one preview. Its ' +
      'host must be no site that people trust, since pages of agents are shown there; it needs DNS and a certificate for all ' +
      'of its subdomains. `npm start` uses `http://*.localhost:PORT`, which browsers look for on their own machine.',
    example: 'https://*.preview.example.org',
    otherwise: 'ports cannot be exposed',
  });
