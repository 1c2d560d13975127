/** Whether an If-None-Match names this ETag. Weak tags compare as equal, which is allowed for reads. */
export function namesEtag(header: string, etag: string): boolean {
  if (header.trim() === '*') return true
  return header.split(',').some((entry) => entry.trim().replace(/^W\//, '') === etag)
}
