import type { MarkedToken, Token, Tokens } from 'marked';
import { Fragment, type ReactNode, Suspense, lazy } from 'react';
import { Code } from './code.tsx';
import type { MathToken } from './math-tokens.ts';
import { safeLink } from './safe-link.ts';

/** Elements for tokens. No HTML is made of text anywhere, so what a model writes can only ever be text. */
export const nodes = (tokens: readonly Token[] = []): ReactNode =>
  tokens.map((token, index) => <Fragment key={index}>{node(token as MarkedToken | MathToken)}</Fragment>); // no others

/** What sets formulas is loaded with the first one. Without it, a formula is shown as it was written. */
const Formula = lazy(() =>
  import('./formula.tsx').catch(() => ({
    default: ({ text }: { readonly text: string; readonly isBlock: boolean }) => text,
  })),
);

function node(token: MarkedToken | MathToken): ReactNode {
  switch (token.type) {
    case 'math':
      return (
        <Suspense fallback={token.text}>
          <Formula text={token.text} isBlock={token.isBlock} />
        </Suspense>
      );
    case 'checkbox':
      return <input type="checkbox" disabled checked={token.checked} aria-label={token.checked ? 'Done' : 'Open'} />;
    case 'heading':
      return (
        <p dir="auto" className={`heading h${Math.min(token.depth, 4)}`}>
          {nodes(token.tokens)}
        </p>
      );
    case 'paragraph':
      return <p dir="auto">{nodes(token.tokens)}</p>;
    case 'code':
      return <Code text={token.text} language={token.lang} />;
    case 'blockquote':
      return <blockquote dir="auto">{nodes(token.tokens)}</blockquote>;
    case 'list':
      return list(token);
    case 'table':
      return table(token);
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    default:
      return inline(token);
  }
}

function inline(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{nodes(token.tokens)}</strong>;
    case 'em':
      return <em>{nodes(token.tokens)}</em>;
    case 'del':
      return <del>{nodes(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return link(token);
    case 'image': // one from elsewhere would tell its server who reads this, and when
      return <span className="picture">picture: {token.text || token.href}</span>;
    case 'text':
      return token.tokens ? nodes(token.tokens) : token.text;
    default:
      return token.raw; // HTML too: it is shown as it was written
  }
}

function link({ href, tokens, text }: Tokens.Link): ReactNode {
  const address = safeLink(href);
  if (address === undefined) return text;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
      {nodes(tokens)}
    </a>
  );
}

function list({ ordered, start, items }: Tokens.List): ReactNode {
  const entries = items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      {nodes(item.tokens)}
    </li>
  ));
  return ordered ? (
    <ol dir="auto" start={start === '' ? 1 : start}>
      {entries}
    </ol>
  ) : (
    <ul dir="auto">{entries}</ul>
  );
}

function table({ header, rows, align }: Tokens.Table): ReactNode {
  const toStyle = (column: number) => ({ textAlign: align[column] ?? undefined });
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, index) => (
              <th key={index} style={toStyle(index)}>
                {nodes(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map(({ tokens }, index) => (
                <td key={index} style={toStyle(index)}>
                  {nodes(tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
