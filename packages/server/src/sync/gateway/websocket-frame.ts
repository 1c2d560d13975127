/** RFC 6455 framing of complete, unmasked binary messages, as a server sends them; made once for many sockets. */
const FIN_BINARY = 0x82

export function frameHeaderLength(payloadBytes: number): number {
  if (payloadBytes < 126) return 2
  return payloadBytes < 65_536 ? 4 : 10
}

/** Writes the header at `position` and returns the position after it. */
export function writeFrameHeader(target: Buffer, position: number, payloadBytes: number): number {
  target[position] = FIN_BINARY
  if (payloadBytes < 126) {
    target[position + 1] = payloadBytes
    return position + 2
  }
  if (payloadBytes < 65_536) {
    target[position + 1] = 126
    return target.writeUInt16BE(payloadBytes, position + 2)
  }
  target[position + 1] = 127
  target.writeUInt32BE(Math.floor(payloadBytes / 0x1_0000_0000), position + 2)
  return target.writeUInt32BE(payloadBytes >>> 0, position + 6)
}

/** Returns header and message in one buffer. */
export function wireBytes(message: Uint8Array): Buffer {
  const header = frameHeaderLength(message.length)
  const bytes = Buffer.allocUnsafe(header + message.length)
  bytes.set(message, writeFrameHeader(bytes, 0, message.length))
  return bytes
}

/** Returns the header alone, for a message too large to copy. */
export function headerBytes(payloadBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeaderLength(payloadBytes))
  writeFrameHeader(bytes, 0, payloadBytes)
  return bytes
}
