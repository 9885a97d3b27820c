import { type ReactNode, useLayoutEffect, useRef } from 'react';
import temml from 'temml';

interface FormulaProps {
  /** TeX. */
  readonly text: string;
  readonly isBlock: boolean;
}

/** A formula as MathML. Commands of TeX that load or link something are refused, and what is wrong is shown as it was written. */
export default function Formula({ text, isBlock }: FormulaProps): ReactNode {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (!place.current) return;
    try {
      temml.render(text, place.current, { displayMode: isBlock, throwOnError: true, trust: false, maxExpand: 500 });
    } catch {
      place.current.textContent = text;
    }
  }, [text, isBlock]);
  return <span ref={place} className={isBlock ? 'formula block' : 'formula'} />;
}
