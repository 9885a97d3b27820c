import { parseHTML } from 'linkedom';
import { act } from 'react';
import { SearchField } from './fields';

/** What the test uses of a DOM, which Node has not. */
const { window } = parseHTML('<html><body></body></html>');
const location = new URL('http://localhost/');
const document = Object.assign(window.document, { oninput: null });
const dom = { window: Object.assign(window, { location }), document, navigator: { userAgent: '' } };
const globals = { ...dom, IS_REACT_ACT_ENVIRONMENT: true };
beforeAll(() => Object.assign(globalThis, globals));
afterAll(() => Object.keys(globals).forEach((name) => Reflect.deleteProperty(globalThis, name)));

async function shownField(value: string) {
  const { createRoot } = await import('react-dom/client'); // which looks for a DOM when it is loaded
  const place = document.body.appendChild(document.createElement('div'));
  const root = createRoot(place);
  const searched: string[] = [];
  const search = (text: string) => searched.push(text);
  const show = (known: string) =>
    act(() => root.render(<SearchField label="Words" placeholder="" value={known} search={search} />));
  show(value);
  const field = () => place.querySelector('input');
  const type = (text: string) =>
    act(() => {
      const input = field();
      if (!input) return;
      Object.getOwnPropertyDescriptor(window.HTMLInputElement.prototype, 'value')?.set?.call(input, text); // as a user does
      input.dispatchEvent(new window.Event('input', { bubbles: true }));
    });
  return { searched, show, type, text: () => field()?.value };
}

describe('a search field', () => {
  it('keeps what is typed while the address follows', async () => {
    const { searched, show, type, text } = await shownField('');
    for (const typed of ['f', 'fu', 'fug ']) type(typed);
    show('f');
    const [early] = [text()];
    show('fug');

    expect([early, text(), searched]).toEqual(['fug ', 'fug ', ['f', 'fu', 'fug']]);
  });

  it('shows what the address has when a link or the way back has changed it', async () => {
    const { show, type, text } = await shownField('');
    type('fugue');
    show('fugue');
    type('fugue ');
    show('');
    const [without] = [text()];
    show('fugue');

    expect([without, text()]).toEqual(['', 'fugue']);
  });
});
