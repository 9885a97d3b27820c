interface FigureProps {
  readonly name: string;
  readonly value: string;
}

/** One of the `figures` of a page, in a list of descriptions. */
export function Figure({ name, value }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
