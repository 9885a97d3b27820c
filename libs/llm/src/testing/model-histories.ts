import { type Opaque, callId, sha256 } from '@rondo/contract';
import type { ModelMessage, ShownImage } from '@rondo/domain';
import fc from 'fast-check';

const text = fc.oneof(fc.string(), fc.constantFrom('', ' \n', 'words'));
const images: readonly ShownImage[] = [
  { type: 'base64', media_type: 'image/png', data: 'aGk=' },
  { type: 'url', url: 'https://example.com/a.png' },
  { type: 'blob', sha256: sha256.parse('0'.repeat(64)), media_type: 'image/png', width: 1, height: 1 },
];
const image = fc.constantFrom(...images);

export const imagesOfAllKinds: ModelMessage = {
  role: 'user',
  content: images.map((source) => ({ type: 'image', source })),
};

const shownBlock = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('image' as const), source: image }),
);
const user = fc
  .array(shownBlock, { minLength: 1, maxLength: 3 })
  .map((content) => ({ role: 'user' as const, content }));

/** Of the models that the tests ask, and of others. */
const opaques: readonly Opaque[] = ['anthropic/m', 'deepseek/m', 'openrouter/m', 'other/n'].flatMap((maker) => [
  { maker },
  { maker, data: { signature: 'c2ln' }, bound: true },
  { maker, data: { data: 'cmVk' } },
]);

const reasoning = fc.oneof(
  fc.record({ type: fc.constant('reasoning' as const), text }),
  fc.record({ type: fc.constant('reasoning' as const), text, signature: fc.constant('c2ln') }),
  fc.record({ type: fc.constant('reasoning' as const), text, opaque: fc.constantFrom(...opaques) }),
);
const toolName = fc.oneof(fc.constantFrom('shell', 'read_file', '', 'a.b c', 'ü'), fc.string({ maxLength: 90 }));
const call = fc.record({ name: toolName, arguments: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }) });
const answer = fc.record({ text, is_error: fc.boolean(), image: fc.option(image) });

/** A reply with what follows it: the results of its calls, and a user turn where one must or may follow. */
const exchange = fc.record({
  thought: fc.option(reasoning),
  said: fc.option(text),
  calls: fc.array(fc.tuple(call, answer), { maxLength: 3 }),
  next: user,
  spoken: fc.boolean(),
});

/** Every history that a dialect can produce from a thread (I6), including degenerate ones. */
export const histories = fc
  .tuple(user, fc.array(exchange, { maxLength: 4 }))
  .map(([first, exchanges]): ModelMessage[] => {
    let ids = 0;
    return [
      first,
      ...exchanges.flatMap(({ thought, said, calls, next, spoken }): ModelMessage[] => {
        const numbered = calls.map(([asked, { image: shown, ...told }]) => {
          const id = callId.parse(`call_${ids++}`);
          return {
            call: { type: 'tool_call' as const, id, ...asked },
            result: { tool_call_id: id, ...told, ...(shown && { image: shown }) },
          };
        });
        const content = [
          ...(thought ? [thought] : []),
          ...(said === null ? [] : [{ type: 'text' as const, text: said }]),
          ...numbered.map((one) => one.call),
        ];
        const results = numbered.map(({ result }) => result);
        return [
          { role: 'assistant', content },
          ...(results.length > 0 ? [{ role: 'tool' as const, results }] : []),
          ...(spoken || results.length === 0 ? [next] : []),
        ];
      }),
    ];
  });

/** The request for each reply of a history. */
export const listRequests = (history: readonly ModelMessage[]): ModelMessage[][] => [
  ...history.flatMap(({ role }, at) => (role === 'assistant' ? [history.slice(0, at)] : [])),
  [...history],
];
