/** Takes `as=ann` out of the hash of an address. `#as=ann` alone leads to the list of documents. */
export function takeNamedPerson(hash: string): { readonly person: string | null; readonly hash: string } {
  const text = hash.replace(/^#/, '')
  const [path = '', query = ''] = text.startsWith('as=') ? ['', text] : text.split('?')
  const parameters = new URLSearchParams(query)
  const person = parameters.get('as')
  if (person === null) return { person, hash }
  parameters.delete('as')
  const rest = parameters.toString()
  return { person, hash: `#${path}${rest === '' ? '' : `?${rest}`}` }
}
