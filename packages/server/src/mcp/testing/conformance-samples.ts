/** An image of one pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** An empty recording: 8 kHz, one channel, 8 bits, no samples. */
export const WAV = wav().toString('base64')

function wav(): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(8_000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  return head
}

export const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' } as const

export function text(value: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text: value }
}

export function embedded(uri: string, mimeType: string, value: string) {
  return { type: 'resource', resource: { uri, mimeType, text: value } } as const
}

/** Makes a question that a client shows as a form with one field. */
export function form(message: string, field: string, type: 'string' | 'boolean' = 'string') {
  return {
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties: { [field]: { type } }, required: [field] } },
  } as const
}

export function question(words: string, maxTokens: number) {
  return {
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: text(words) }], maxTokens },
  } as const
}
