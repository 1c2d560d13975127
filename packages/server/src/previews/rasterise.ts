import { createRequire } from 'node:module'
import type { PageSvg } from '@docrelay/model/render/page-svg'
import { Resvg } from '@resvg/resvg-js'

/** Most pixels of one PNG; a larger page is scaled down. [REST-34] */
export const MAX_PIXELS = 16_000_000

/** Fonts for the generic families. The rasteriser does not map these families to fonts given as files, so drawings name the fonts. */
const FAMILIES = { 'sans-serif': 'DejaVu Sans', serif: 'DejaVu Serif', monospace: 'DejaVu Sans Mono' }
const FONTS = ['DejaVuSans', 'DejaVuSerif', 'DejaVuSansMono']
const resolve = createRequire(import.meta.url).resolve
/** Scripts that the fonts of the relay lack; such text is drawn with fonts of the machine, if it has any. */
const OTHER_SCRIPTS = /[\u0900-\u0e0d\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]|[\u{1f000}-\u{3ffff}]/u

/** Returns the size in pixels of a drawing at a scale: whole numbers, at least 1, at most `MAX_PIXELS` in all. Pure. */
export function pixelSize(
  { width, height }: Pick<PageSvg, 'width' | 'height'>,
  scale: number,
): { width: number; height: number } {
  const fit = Math.min(scale, Math.sqrt(MAX_PIXELS / (width * height)))
  const across = Math.min(Math.max(1, Math.floor(width * fit)), MAX_PIXELS)
  return { width: across, height: Math.min(Math.max(1, Math.floor(height * fit)), Math.floor(MAX_PIXELS / across)) }
}

/** Limits of a picture for agents: pixels of a side, and bytes. [AG-109] */
export const MAX_SIDE_PIXELS = 1_568
export const MAX_PICTURE_BYTES = 100_000

/** Returns a drawing as PNG in its own size, scaled down when the limits for agents need that. [AG-109] */
export function rasteriseWithin(drawn: PageSvg): Uint8Array {
  let scale = Math.min(1, MAX_SIDE_PIXELS / Math.max(drawn.width, drawn.height))
  for (;;) {
    const bytes = rasterise(drawn, scale)
    const { width, height } = pixelSize(drawn, scale)
    if (bytes.byteLength <= MAX_PICTURE_BYTES || width * height === 1) return bytes
    // Each try costs the same at any scale, so the next one should fit. The bytes of a drawing grow more slowly than its pixels.
    scale *= Math.min(0.9, 0.95 * (MAX_PICTURE_BYTES / bytes.byteLength) ** 0.8)
  }
}

/** Returns a drawing as PNG. Uses the fonts of the relay, so that pictures are the same on every machine. */
export function rasterise(drawn: PageSvg, scale: number): Uint8Array {
  const { width, height } = pixelSize(drawn, scale)
  // The picture has exactly these pixels; a very narrow page may be stretched to fill them.
  const sized = drawn.svg
    .replace(/width="[^"]*" height="[^"]*"/, `width="${width}" height="${height}" preserveAspectRatio="none"`)
    .replace(/(?<=<text font-family=")[a-z-]+/g, (family) => FAMILIES[family as keyof typeof FAMILIES])
  const image = new Resvg(sized, {
    font: {
      loadSystemFonts: OTHER_SCRIPTS.test(drawn.svg),
      fontFiles: FONTS.map((name) => resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)),
      defaultFontFamily: FAMILIES['sans-serif'],
    },
  })
  return image.render().asPng()
}
