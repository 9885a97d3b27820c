import { common, createLowlight } from 'lowlight';
import { type ReactNode, useMemo } from 'react';

const lowlight = createLowlight(common);
type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** A longer text is shown without colours: they would cost more than a moment. */
const longest = 60_000;

interface HighlightedProps {
  readonly text: string;
  readonly language: string;
}

/** Code in colours, if its language is a known one. */
export default function Highlighted({ text, language }: HighlightedProps): ReactNode {
  return useMemo(
    () =>
      text.length <= longest && lowlight.registered(language)
        ? createNodes(lowlight.highlight(language, text).children)
        : text,
    [text, language],
  );
}

/** Elements, and no HTML: what a model writes can only ever be text. */
const createNodes = (nodes: readonly Node[]): ReactNode =>
  nodes.map((node, index) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    const { className } = node.properties;
    return (
      <span key={index} className={Array.isArray(className) ? className.join(' ') : undefined}>
        {createNodes(node.children)}
      </span>
    );
  });
