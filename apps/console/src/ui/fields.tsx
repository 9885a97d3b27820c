import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useEffect,
  useId,
  useRef,
} from 'react';
import { useRefusal } from './refusals.ts';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
}

/** A line of text, with its name and what it is for. */
export function TextField({ label, hint, ...input }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const [notes, described] = useNotes(hint, input.name);
  return (
    <div className="field">
      <label htmlFor={described.id}>{label}</label>
      <input dir="auto" autoComplete="off" {...described} {...input} />
      {notes}
    </div>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly name?: string;
  /** In place of a number: what holds without one. */
  readonly placeholder: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}

/** A number that is not negative, or none. */
export function NumberField({ value, onChange, ...rest }: NumberFieldProps) {
  return (
    <TextField
      {...rest}
      type="number"
      min={0}
      step="any"
      value={value ?? ''}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)}
    />
  );
}

/** Several lines. */
export function AreaField({ label, hint, ...area }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const [notes, described] = useNotes(hint, area.name);
  return (
    <div className="field">
      <label htmlFor={described.id}>{label}</label>
      <textarea dir="auto" {...described} {...area} />
      {notes}
    </div>
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** What the address has. */
  readonly value: string | undefined;
  readonly search: (text: string) => void;
}

/** What a list is searched for. When the address changes otherwise, by a link or the way back, it shows what is searched for then. */
export function SearchField({ label, placeholder, value = '', search }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const awaited = useRef<string | null>(null); // what was typed last, until the address has it
  useEffect(() => {
    if (field.current && awaited.current === null) field.current.value = value;
    if (awaited.current === value) awaited.current = null;
  }, [value]);
  const type = (text: string) => {
    awaited.current = text === value ? null : text;
    search(text);
  };
  return (
    <input
      ref={field}
      dir="auto"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      spellCheck={false}
      defaultValue={value}
      onChange={({ currentTarget }) => type(currentTarget.value.trim())}
    />
  );
}

interface ChoiceProps extends FieldProps, SelectHTMLAttributes<HTMLSelectElement> {
  /** What is sent, and the words for it. */
  readonly options: readonly (readonly [value: string, words: string])[];
}

/** One of a few. */
export function ChoiceField({ label, hint, options, ...select }: ChoiceProps) {
  const [notes, described] = useNotes(hint, select.name);
  return (
    <div className="field">
      <label htmlFor={described.id}>{label}</label>
      <select {...described} {...select}>
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      {notes}
    </div>
  );
}

/** What stands below a field, and what a field says of it to those who do not see it. */
function useNotes(hint: ReactNode, name: string | undefined) {
  const id = useId();
  const problem = useRefusal(name);
  const notes = [
    hint !== undefined && (
      <p key="hint" className="hint" id={`${id}-hint`}>
        {hint}
      </p>
    ),
    problem !== undefined && (
      <p key="problem" className="problem" role="alert" id={`${id}-problem`}>
        {problem}
      </p>
    ),
  ].filter((note) => note !== false);
  const described = {
    id,
    'aria-describedby': notes.length === 0 ? undefined : notes.map(({ key }) => `${id}-${key}`).join(' '),
    'aria-invalid': problem === undefined ? undefined : true,
  };
  return [notes, described] as const;
}
