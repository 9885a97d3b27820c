import { useModels } from '../ui/run-choice.tsx';

/** The models that this deployment knows, to find the right name of one. */
export function KnownModels({ isOpen = false }: { readonly isOpen?: boolean }) {
  const models = useModels();
  if (models.length === 0) return null;
  return (
    <details className="known-models" open={isOpen}>
      <summary>{models.length === 1 ? 'The known model' : `The ${models.length} known models`}</summary>
      <ul>
        {models.map((id) => (
          <li key={id}>
            <code>{id}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
