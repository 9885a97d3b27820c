import { lexer } from 'marked';
import { memo, useRef } from 'react';
import { BlockSplitter } from './block-splitter.ts';
import { Code, nodes } from './tokens.tsx';

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
      {isInFence ? (
        <Code text={rest.replace(/^[^\n]*\n?/, '').replace(/\n {0,3}(`{3,}|~{3,})\s*$/, '')} />
      ) : (
        <Block text={rest} />
      )}
    </div>
  );
});

const Block = memo(function Block({ text }: { readonly text: string }) {
  return nodes(lexer(text, { gfm: true }));
});
