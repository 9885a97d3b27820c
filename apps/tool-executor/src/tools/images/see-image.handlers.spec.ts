import { imageHeader } from '@rondo/contract';
import sharp from 'sharp';
import { ExecutorFixture, aCall } from '../../testing/executor-fixture';

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: { r: 200, g: 30, b: 30, alpha: 0.5 } } });

describe('see_image', () => {
  let fixture: ExecutorFixture;
  const shell = (command: string) => fixture.use('execute_command', { command, blocking: true });
  const see = async (file_path: string) => {
    const reply = await fixture.reply(aCall('see_image', { file_path }));
    if (reply.how !== 'answered') throw new Error(`not answered but ${reply.how}`);
    return reply.result;
  };

  async function put(path: string, bytes: Buffer): Promise<void> {
    await shell(`rm -f ${path}`);
    for (let at = 0; at < bytes.length || at === 0; at += 60_000) {
      await shell(`echo ${bytes.subarray(at, at + 60_000).toString('base64')} | base64 -d >> ${path}`);
    }
  }

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it.each(['png', 'jpeg', 'gif', 'webp'] as const)('shows a %s as a JPEG', async (format) => {
    await put('small.img', await picture(40, 30).toFormat(format).toBuffer());

    const { success, output, image } = await see('small.img');

    expect(success).toBe(true);
    expect(output).toMatch(/^small\.img: 40 x 30 pixels, \d+ bytes; shown with \d+ bytes\.$/);
    expect(imageHeader(image?.data ?? '')).toEqual({ media_type: 'image/jpeg', width: 40, height: 30 });
  });

  it('scales a large image down to 1920 x 1080, keeping its proportions', async () => {
    await put('large.png', await picture(4000, 1000).png().toBuffer());

    expect(imageHeader((await see('large.png')).image?.data ?? '')).toMatchObject({ width: 1920, height: 480 });
  });

  it('refuses what is no image, missing or too large', async () => {
    await shell('echo text > text.png; echo "<svg/>" > a.svg; mkdir -p folder; truncate -s 11M big.png');

    expect((await see('text.png')).error).toBe('text.png is not a JPEG, PNG, GIF or WebP image.');
    expect((await see('a.svg')).error).toBe('a.svg is not a JPEG, PNG, GIF or WebP image.');
    expect((await see('missing.png')).error).toBe('missing.png does not exist.');
    expect((await see('folder')).error).toBe('folder is not a file.');
    expect((await see('big.png')).error).toBe('big.png is larger than 10 MB.');
  });

  describe('attack: image files', () => {
    it('an image bomb of 90 million pixels', async () => {
      await put('bomb.png', await picture(10_000, 9_000).png({ compressionLevel: 9 }).toBuffer());

      expect((await see('bomb.png')).error).toBe('bomb.png cannot be shown: it has more than 50000000 pixels.');
    });

    it('a truncated image', async () => {
      const whole = await picture(400, 300).jpeg().toBuffer();
      await put('cut.jpg', whole.subarray(0, 400));

      expect((await see('cut.jpg')).error).toMatch(/^cut\.jpg (cannot be shown|is not a JPEG)/);
    });

    it.each(['../secret.png', '/etc/passwd', 'a/../../secret.png'])('the path %s', async (path) => {
      expect((await see(path)).error).toContain('outside /workspace');
    });

    it('a link to a file of the host', async () => {
      await shell('ln -sf /etc/shadow shadow.png; ln -sf /proc/1/environ environ.png');

      expect((await see('shadow.png')).success).toBe(false);
      expect((await see('environ.png')).success).toBe(false);
    });
  });
});
