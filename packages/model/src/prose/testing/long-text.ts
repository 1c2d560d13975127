/** Makers of long text for hostile inputs. Each returns about as many characters as requested. */

export function repeat(part: string): (size: number) => string {
  return (size) => part.repeat(Math.ceil(size / part.length))
}

export function numbered(part: (i: number) => string): (size: number) => string {
  return (size) => {
    const parts: string[] = []
    for (let length = 0, i = 0; length < size; i++) {
      const next = part(i)
      parts.push(next)
      length += next.length
    }
    return parts.join('')
  }
}
