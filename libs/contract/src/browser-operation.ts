import { z } from 'zod';

const coordinate = z.number().int().min(0).max(10_000);
const distance = z.number().int().min(-10_000).max(10_000);
const key =
  '(?:(?:Alt|Control|Ctrl|Meta|Shift)\\+)*' +
  '(?:Backspace|Tab|Enter|Escape|Page(?:Up|Down)|End|Home|Arrow(?:Left|Up|Right|Down)|Insert|Delete|Space|F(?:[1-9]|1[0-2])|[!-~])';
const keys = new RegExp(`^${key}(?: ${key})*$`);

const click = z.object({
  type: z.literal('click'),
  x: coordinate.describe('In pixels of the screenshot, from the left.'),
  y: coordinate.describe('In pixels of the screenshot, from the top.'),
  button: z.enum(['left', 'middle', 'right']).default('left'),
  count: z.number().int().min(1).max(3).default(1).describe('2 is a double click.'),
});
const text = z.object({
  type: z.literal('text'),
  text: z.string().min(1).max(4_000).describe('Typed into the field that has the focus; a line break presses Enter.'),
});
const pressed = z.object({
  type: z.literal('keys'),
  keys: z
    .string()
    .max(200)
    .regex(keys, 'must be keys like Enter, Tab, ArrowDown, F5 or Control+a, with a space between them')
    .describe('Pressed one after the other, such as `Control+a Delete`.'),
});
const scroll = z.object({
  type: z.literal('scroll'),
  dx: distance.default(0).describe('In pixels, to the right.'),
  dy: distance.default(0).describe('In pixels, down.'),
  x: coordinate.default(640).describe('Where the mouse is: what is there scrolls.'),
  y: coordinate.default(400),
});
const navigate = z.object({
  type: z.literal('navigate'),
  url: z.string().min(1).max(2_000).describe('`http`, `https`, or a file of the workspace. Without a scheme: `https`.'),
});
const back = z.object({ type: z.literal('back') });
const tab = z.object({
  type: z.literal('tab'),
  page_id: z.number().int().min(1).max(1_000_000).describe('As in the view; it is shown and acted on from then on.'),
});

/** What a person does in the browser of a sandbox, as it travels: fields of a later version are passed over. */
export const browserAction = z.discriminatedUnion('type', [click, text, pressed, scroll, navigate, back, tab]);
export type BrowserAction = z.infer<typeof browserAction>;

/** The same as a client sends it: an unknown field is refused. */
export const requestedBrowserAction = z.discriminatedUnion('type', [
  click.strict(),
  text.strict(),
  pressed.strict(),
  scroll.strict(),
  navigate.strict(),
  back.strict(),
  tab.strict(),
]);

/** The browser as a person sees it. What comes from pages is of any content. */
export const browserScreen = z.object({
  url: z.string().max(2_000),
  title: z.string().max(500),
  width: z
    .number()
    .int()
    .positive()
    .describe('Of the page on the screen, in pixels. Clicks have their coordinates in it.'),
  height: z.number().int().positive(),
  tabs: z
    .array(
      z.object({
        page_id: z.number().int(),
        url: z.string().max(2_000),
        title: z.string().max(500),
        is_active: z.boolean(),
      }),
    )
    .max(20),
  screenshot: z.base64().max(8_000_000).nullable().describe('A JPEG in Base64. Null where the page does not respond.'),
  notes: z
    .array(z.string().max(1_000))
    .max(20)
    .describe('What happened besides since the action began: dialogs, which are dismissed; downloads; new tabs.'),
  problem: z.string().max(2_000).nullable().describe('Why the action had no effect, or only a part of it.'),
});
export type BrowserScreen = z.infer<typeof browserScreen>;
