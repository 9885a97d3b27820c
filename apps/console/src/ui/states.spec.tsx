import { renderToStaticMarkup } from 'react-dom/server';
import { NotAll } from './states';

it.each([
  [true, '<p class="hint">Only 2 agents are shown; there are more.</p>'],
  [false, ''],
  [undefined, ''],
])('a list says whether there is more than it shows: %s', (hasMore, words) => {
  const list = hasMore === undefined ? undefined : { items: [1, 2], hasMore };
  expect(renderToStaticMarkup(<NotAll list={list} what="agents" />)).toBe(words);
});
