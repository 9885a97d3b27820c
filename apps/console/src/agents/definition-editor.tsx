import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { WorkButton } from '../ui/action.tsx';
import { problemText } from '../ui/problem-text.ts';
import { type FieldPlaces, RefusalsContext, useFieldWork } from '../ui/refusals.ts';
import { TolerantForm } from '../ui/tolerant-form.tsx';
import { useUnsaved } from '../ui/unsaved.tsx';
import { type Format, parseDefinition, printDefinition } from './definition-text.ts';

interface DefinitionEditorProps<Definition> {
  readonly definition: Definition;
  readonly onChange: (definition: Definition) => void;
  /** Told whether the text is one that cannot be read: then the definition is the last one that could. */
  readonly onBroken?: (isBroken: boolean) => void;
  /** Its fields, which call `onChange` too. */
  readonly form: ReactNode;
  /** Where they are in the request that saves it. */
  readonly places: FieldPlaces;
  readonly save: () => Promise<unknown>;
  readonly saveWords: string;
  readonly isChanged: boolean;
  /** Whether something has to be decided before it can be saved. */
  readonly isHeld?: boolean;
  /** Above the button. */
  readonly children?: ReactNode;
}

const formats: readonly (readonly [Format, string])[] = [
  ['form', 'Form'],
  ['json', 'JSON'],
  ['yaml', 'YAML'],
];

/** A definition as a form, as JSON or as YAML; all three are the same one. */
export function DefinitionEditor<Definition extends object>(props: DefinitionEditorProps<Definition>) {
  const { definition, onChange, onBroken, form, places, save, saveWords, isChanged, isHeld = false, children } = props;
  const editor = useRef<HTMLElement>(null);
  const [format, setFormat] = useState<Format>('form');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const { isBusy, refusals, problem: refusal, start } = useFieldWork(editor, places);
  useUnsaved((isChanged || problem !== null) && !isBusy);
  const complain = (next: string | null) => {
    setProblem(next);
    onBroken?.(next !== null);
  };
  useEffect(() => () => onBroken?.(false), [onBroken]);
  const show = async (next: Format) => {
    if (next !== 'form') setText(await printDefinition(definition, next));
    setFormat(next);
    complain(null);
  };
  const edit = (written: string) => {
    setText(written);
    if (format === 'form') return;
    parseDefinition<Definition>(written, format).then(
      (parsed) => {
        complain(null);
        onChange(parsed);
      },
      (error: unknown) => complain(problemText(error)),
    );
  };
  return (
    <section ref={editor} className="editor" aria-label="Definition">
      <FormatChoice format={format} isHeld={problem !== null} onChoose={(next) => void show(next)} />
      <RefusalsContext value={refusals}>
        {format === 'form' ? (
          <TolerantForm whole={definition}>{form}</TolerantForm>
        ) : (
          <TextOfDefinition {...{ format, text, problem }} onChange={edit} isHeld={isBusy} />
        )}
        {children}
      </RefusalsContext>
      <div className="actions editor-end">
        <WorkButton
          className="primary"
          disabled={!isChanged || isHeld || problem !== null}
          {...{ isBusy, problem: refusal, start: () => void start(save) }}
        >
          {saveWords}
        </WorkButton>
        <span className="hint" role="status">
          {isChanged ? 'Not saved yet.' : ''}
        </span>
      </div>
    </section>
  );
}

interface FormatChoiceProps {
  readonly format: Format;
  /** What is written cannot be read yet, so it cannot be shown in another format. */
  readonly isHeld: boolean;
  readonly onChoose: (format: Format) => void;
}

const FormatChoice = ({ format, isHeld, onChoose }: FormatChoiceProps) => (
  <div className="choice" role="group" aria-label="Edit it as">
    {formats.map(([name, words]) => (
      <button
        key={name}
        aria-pressed={name === format}
        disabled={isHeld && name !== format}
        onClick={() => onChoose(name)}
      >
        {words}
      </button>
    ))}
  </div>
);

interface TextProps {
  readonly format: Format;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly problem: string | null;
  /** It is being saved: what cannot be read yet would be lost then. */
  readonly isHeld: boolean;
}

function TextOfDefinition({ format, text, onChange, problem, isHeld }: TextProps) {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>The definition, as {format.toUpperCase()}</label>
      <textarea
        dir="auto"
        id={id}
        className="code"
        rows={24}
        spellCheck={false}
        readOnly={isHeld}
        value={text}
        aria-invalid={problem !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
