import { Marked } from 'marked';
import { memo, useRef } from 'react';
import { BlockSplitter } from './block-splitter.ts';
import { Code } from './code.tsx';
import { guardedRules } from './guarded-rules.ts';
import { mathTokens } from './math-tokens.ts';
import { nodes } from './tokens.tsx';

/** Line breaks count, as in a chat: models and people write lists and verses without the two spaces that Markdown asks for. */
const marked = new Marked({ gfm: true, breaks: true, extensions: [mathTokens] }, guardedRules);

/** The end of code, if no line follows it. */
const closingFence = /\n {0,3}(`{3,}|~{3,})\s*$/;

/** Markdown, also while it is being written: blocks that are complete are parsed and rendered once. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const splitter = useRef(new BlockSplitter()).current;
  splitter.update(text);
  const { blocks, rest, isInFence } = splitter;
  return (
    <div className="markdown">
      {blocks.map((block, index) => (
        <Block key={index} text={block} />
      ))}
      {isInFence && !closingFence.test(rest) ? (
        <Code isOpen text={rest.replace(/^[^\n]*\n?/, '')} />
      ) : (
        <Block text={rest} />
      )}
    </div>
  );
});

const Block = memo(function Block({ text }: { readonly text: string }) {
  return nodes(marked.lexer(text));
});
