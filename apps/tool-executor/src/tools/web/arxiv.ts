/** The page with the whole text of an article on arXiv, where `url` is the page with its abstract. Not every article has one. */
export function arxivHtml(url: URL): URL | undefined {
  const isAbstract = /^(www\.)?arxiv\.org$/.test(url.hostname) && url.pathname.startsWith('/abs/');
  return isAbstract ? new URL(url.pathname.replace('/abs/', '/html/'), 'https://arxiv.org') : undefined;
}
