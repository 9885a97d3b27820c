import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
}

/** A line of text, with its name and what it is for. */
export function TextField({ label, hint, ...input }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const described = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} dir="auto" autoComplete="off" aria-describedby={described} {...input} />
      <Hint id={described}>{hint}</Hint>
    </div>
  );
}

interface NumberFieldProps {
  readonly label: string;
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
  const id = useId();
  const described = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea id={id} dir="auto" aria-describedby={described} {...area} />
      <Hint id={described}>{hint}</Hint>
    </div>
  );
}

interface ChoiceProps extends FieldProps, SelectHTMLAttributes<HTMLSelectElement> {
  /** What is sent, and the words for it. */
  readonly options: readonly (readonly [value: string, words: string])[];
}

/** One of a few. */
export function ChoiceField({ label, hint, options, ...select }: ChoiceProps) {
  const id = useId();
  const described = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} aria-describedby={described} {...select}>
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <Hint id={described}>{hint}</Hint>
    </div>
  );
}

function Hint({ id, children }: { readonly id: string | undefined; readonly children: ReactNode }) {
  return id === undefined ? null : (
    <p className="hint" id={id}>
      {children}
    </p>
  );
}
