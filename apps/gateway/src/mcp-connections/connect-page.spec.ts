import type { McpLink } from '@rondo/persistence';
import { askPage, donePage, writeFailure } from './connect-page';

const hostile = `"><script>alert('x')</script>&`;
const link = {
  url: 'https://mcp.example.com/mcp',
  account_name: 'Acme',
  end_user: null,
  problem: null,
  scopes: [] as string[],
};

describe('the pages of a connection', () => {
  it('say what is connected, for whose runs, and how to go on', () => {
    const page = askPage(link as McpLink, 'a b');
    for (const words of ['https://mcp.example.com', 'Acme', 'everyone who uses this account', '?link=a%20b'])
      expect(page).toContain(words);
    expect(askPage({ ...link, end_user: 'ann' } as McpLink, 'x')).toContain('<dd>ann</dd>');
    expect(page).not.toContain('Asks for');
    expect(askPage({ ...link, scopes: ['read', 'write'] } as McpLink, 'x')).toContain('<dd>read write</dd>');
    expect(donePage(link.url)).toContain('is connected');
  });

  it('show names and reasons as text, whatever they are', () => {
    const named = { ...link, account_name: hostile, end_user: hostile, problem: hostile, scopes: [hostile] } as McpLink;
    for (const page of [askPage(named, hostile), writeFailure(hostile)]) {
      expect(page).not.toContain('<script>');
      expect(page).toContain('&lt;script&gt;');
    }
  });
});
