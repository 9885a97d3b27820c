import { useEffect, useState } from 'react';

/** Bytes that were read as a picture. */
export function Picture({ picture, alt }: { readonly picture: Blob; readonly alt: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const created = URL.createObjectURL(picture);
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [picture]);
  return url === undefined ? <div className="picture-space" /> : <img src={url} alt={alt} />;
}
