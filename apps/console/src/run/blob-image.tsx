import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useRondo } from '../session/use-session.ts';
import { isMissing, problemText } from '../ui/problem-text.ts';
import { useTimelineLinks } from './timeline-links.ts';

const pictures: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** An image that Rondo keeps. It is fetched with the session, because an address alone does not say who asks. */
export function BlobImage({ sha256, alt }: { readonly sha256: string; readonly alt: string }) {
  const rondo = useRondo();
  const { readImage } = useTimelineLinks();
  const { data, error } = useQuery({
    queryKey: ['blob', sha256],
    queryFn: async ({ signal }) =>
      readImage ? readImage(sha256, signal) : (await rondo.blob(sha256, { signal })).blob(),
    staleTime: Infinity,
    gcTime: 60_000,
  });
  const url = useMemo(() => (data && pictures.includes(data.type) ? URL.createObjectURL(data) : undefined), [data]);
  useEffect(() => () => (url === undefined ? undefined : URL.revokeObjectURL(url)), [url]);
  if (error && !data)
    return <p className="hint">{isMissing(error) ? 'The picture is no longer there.' : problemText(error)}</p>;
  return url === undefined ? <div className="picture-space" /> : <img src={url} alt={alt} />;
}
