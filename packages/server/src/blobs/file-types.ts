const TYPES: Readonly<Record<string, string>> = {
  ...{ pdf: 'application/pdf', zip: 'application/zip', json: 'application/json' },
  ...{
    txt: 'text/plain',
    log: 'text/plain',
    md: 'text/markdown',
    css: 'text/css',
    yaml: 'application/yaml',
    yml: 'application/yaml',
  },
  ...{ csv: 'text/csv', tsv: 'text/tab-separated-values', xls: 'application/vnd.ms-excel' },
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odt: 'application/vnd.oasis.opendocument.text',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', avif: 'image/avif' },
  ...{ svg: 'image/svg+xml', bmp: 'image/bmp', ico: 'image/vnd.microsoft.icon', tif: 'image/tiff', tiff: 'image/tiff' },
  ...{ mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', opus: 'audio/ogg', flac: 'audio/flac', m4a: 'audio/mp4' },
  ...{ aac: 'audio/aac', mp4: 'video/mp4', m4v: 'video/mp4', webm: 'video/webm', mov: 'video/quicktime' },
}

/** Returns the media type for the extension of a file name; `null` for an unknown extension. [FILE-6] */
export function typeByExtension(fileName: string): string | null {
  const dot = fileName.lastIndexOf('.')
  const extension = fileName.slice(dot + 1).toLowerCase()
  return dot >= 0 && Object.hasOwn(TYPES, extension) ? (TYPES[extension] ?? null) : null
}
