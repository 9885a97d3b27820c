import { type ReplyChunk, dialectNamed, profiles } from '@rondo/domain';
import fc from 'fast-check';
import { CallAssembly } from './call-assembly';
import type { ToolCallDelta } from './openai-chunk';

interface Written {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** How a server sends calls. `named`: in which pieces a call has its name. */
interface Habit {
  readonly ids: 'own' | 'own in each piece' | 'changing' | 'alike' | 'late' | 'none';
  readonly numbers: 'own' | 'zero' | 'of the piece' | 'none';
  readonly named: 'first' | 'every';
  readonly form: 'text' | 'object' | 'encoded twice' | 'after a placeholder' | 'repeated at the end';
  readonly size: number;
}

const anyCall = fc.record({
  name: fc.constantFrom('read_file', 'execute_command'),
  arguments: fc.dictionary(fc.constantFrom('a', 'b}', '"c'), fc.jsonValue(), { maxKeys: 2 }),
});
/** Where neither number nor id says so, a repetition is another call that is the same: no reader could tell. */
const isTold = ({ ids, numbers, named, form }: Habit): boolean => {
  const repeats = form === 'after a placeholder' || form === 'repeated at the end';
  if (numbers === 'own') return named === 'first' || ids !== 'changing' || !repeats;
  if (numbers === 'of the piece' && named === 'every') return false;
  if (ids === 'alike' || (ids === 'changing' && named === 'every')) return false;
  return !repeats || ids === 'own in each piece' || (named === 'first' && ids === 'own');
};

const anyHabit: fc.Arbitrary<Habit> = fc
  .record({
    ids: fc.constantFrom('own', 'own in each piece', 'changing', 'alike', 'late', 'none'),
    numbers: fc.constantFrom('own', 'zero', 'of the piece', 'none'),
    named: fc.constantFrom('first', 'every'),
    form: fc.constantFrom('text', 'object', 'encoded twice', 'after a placeholder', 'repeated at the end'),
    size: fc.integer({ min: 1, max: 30 }),
  })
  .filter(isTold);

function toPieces({ form, size }: Habit, given: Record<string, unknown>): unknown[] {
  const whole = JSON.stringify(given);
  const cut = (text: string) => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  switch (form) {
    case 'text':
      return ['', ...cut(whole)];
    case 'object':
      return [given];
    case 'encoded twice':
      return ['', ...cut(JSON.stringify(whole))];
    case 'after a placeholder':
      return ['{}', ...cut(whole)];
    case 'repeated at the end':
      return ['', ...cut(whole), whole];
  }
}

const idAt = (ids: Habit['ids'], at: number, nth: number): string | undefined => {
  if (ids === 'alike') return nth === 0 ? 'x' : undefined;
  if (ids === 'changing') return `id_${at}_${nth}`;
  if (ids === 'own in each piece') return `id_${at}`;
  if (ids === 'late') return nth === 1 ? `id_${at}` : undefined;
  return ids === 'own' && nth === 0 ? `id_${at}` : undefined;
};

function toDeltas(calls: readonly Written[], habit: Habit): ToolCallDelta[][] {
  let pieces = 0;
  return calls.map((call, at) =>
    toPieces(habit, call.arguments).map((written, nth) => {
      const index = { own: at, zero: 0, 'of the piece': pieces++, none: undefined }[habit.numbers];
      const id = idAt(habit.ids, at, nth);
      const name = nth === 0 || habit.named === 'every' ? call.name : undefined;
      return {
        ...(index !== undefined && { index }),
        ...(id !== undefined && { id }),
        function: { ...(name !== undefined && { name }), arguments: written },
      };
    }),
  );
}

/** Takes the pieces of the calls in turn, as `order` says. */
function interleaved<Item>(lists: readonly (readonly Item[])[], order: readonly number[]): Item[] {
  const left = lists.map((list) => [...list]);
  const taken = order.flatMap((nth) => left[nth % left.length]?.splice(0, 1) ?? []);
  return [...taken, ...left.flat()];
}

function assembled(deltas: readonly ToolCallDelta[]) {
  const [assembly, chunks] = [new CallAssembly(), [] as ReplyChunk[]];
  for (const delta of deltas) assembly.add(delta, chunks);
  assembly.end(chunks);
  const decoder = dialectNamed('native').decoder([], { ...profiles.suna.settings.processor, max_tool_calls: 0 });
  for (const chunk of chunks) decoder.push(chunk);
  return decoder.end().calls;
}

const isPart = (some: readonly Written[], all: readonly Written[]): boolean => {
  const left = all.map((one) => JSON.stringify([one.name, one.arguments]));
  return some.every((one) => {
    const at = left.indexOf(JSON.stringify([one.name, one.arguments]));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
};

/** Whether a reader can tell apart the pieces of calls that are sent in turn. */
const isApart = ({ ids, numbers, form }: Habit): boolean =>
  numbers === 'own' || (numbers === 'zero' && ids === 'own in each piece' && form !== 'after a placeholder');

describe('the calls that are put together', () => {
  it('are those that the model wrote, or malformed, however they are numbered, named and cut', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(anyCall, { minLength: 1, maxLength: 4, selector: (call) => JSON.stringify(call) }),
        anyHabit,
        fc.array(fc.nat(3), { maxLength: 40 }),
        (calls, habit, order) => {
          const deltas = interleaved(toDeltas(calls, habit), isApart(habit) ? order : []);
          const found = assembled(deltas);
          const whole = found.filter(({ malformed }) => !malformed);

          expect([habit, whole, isPart(whole, calls)]).toEqual([habit, whole, true]);
          if (whole.length < calls.length) expect(found.length).toBeGreaterThan(whole.length);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('are whole for servers with the usual habits', () => {
    const usual = anyHabit.filter(
      ({ ids, numbers, named, form }) =>
        (numbers === 'own' ? ids !== 'changing' || named === 'first' : !['changing', 'alike'].includes(ids)) &&
        numbers !== 'of the piece' &&
        form !== 'after a placeholder',
    );
    const called = anyCall.filter((call) => Object.keys(call.arguments).length > 0);
    fc.assert(
      fc.property(
        fc.uniqueArray(called, { maxLength: 4, selector: (call) => JSON.stringify(call) }),
        usual,
        (calls, habit) => {
          const found = assembled(toDeltas(calls, habit).flat());
          expect([habit, found.map(({ name, arguments: given }) => ({ name, arguments: given }))]).toEqual(
            JSON.parse(JSON.stringify([habit, calls])),
          );
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
