import type { RequestListener } from 'node:http';

/** Pages whose title tells what was done to them. */
const pages: Record<string, string> = {
  '/': `<title>Start</title><h1>Welcome</h1><p>A paragraph with [7]&lt;button> in it.</p>
    <a href="/second">Second page</a> <button onclick="document.title='pressed'">Press me</button>
    <button style="display:none">Hidden</button><button disabled>Disabled</button>`,
  '/second': '<title>Second</title><p>The second page.</p>',
  '/form': `<title>Form</title><label>Name <input id="name" value="old" oninput="document.title=this.value"></label>
    <input type="password" placeholder="Secret" value="hunter2"><textarea name="notes" onkeydown="if(event.key==='Enter')document.title='entered'"></textarea>
    <select name="colour" onchange="document.title='chose '+this.value"><option value="r">Red</option><option value="g">Green</option></select>`,
  '/long': `<title>Long</title><p>The top.</p><div style="height:5000px"></div><button>At the end</button><p>The bottom.</p>`,
  '/shadow': `<title>Shadow</title><div id="host"></div><iframe src="/framed" width="400" height="200"></iframe><script>
    host.attachShadow({mode:'open'}).innerHTML = '<button onclick="document.title=\\'in shadow\\'">In the shadow</button>';</script>`,
  '/framed': `<button onclick="parent.document.title='in frame'">In the frame</button>`,
  '/covered': `<title>Covered</title><button style="position:absolute;left:20px;top:20px">Under it</button>
    <div style="position:fixed;inset:0;background:#eee">On top</div>`,
  '/popup': `<title>Opener</title><button onclick="window.open('/second')">Open</button>`,
  '/dialog': `<title>Dialog</title><button onclick="document.title='answer '+confirm('Really?')">Confirm</button>`,
  '/drag': `<title>Drag</title><style>div{width:120px;height:60px;border:1px solid;margin:20px}</style>
    <div draggable="true" id="a" ondragstart="event.dataTransfer.setData('text/plain','apple')">Take me</div>
    <div role="button" ondragover="event.preventDefault()" ondrop="document.title='got '+event.dataTransfer.getData('text/plain')">Drop here</div>`,
  '/files': `<title>Files</title><a href="/report.txt" download>Report</a>`,
  '/hang': `<title>Hang</title><p>Before.</p><button onclick="for(;;);">Hang</button>`,
  '/hanging': `<title>Hanging</title><script>for(;;);</script>`,
  '/crowd': `<title>Crowd</title><script>for(let n=0;n<3000;n++)document.write('<button style="width:20px;height:9px;padding:0;font-size:4px">b'+n+'</button>')</script>`,
  '/huge': `<title>Huge</title><script>document.body.append('x'.repeat(3e7))</script>`,
  '/restless': `<title>Restless</title><script>location.replace('/restless?'+Math.random())</script>`,
  '/hostile': `<title>Hostile</title><button>Real</button><script>
    Object.prototype.toJSON=()=>'owned'; Array.prototype.push=()=>{throw 1}; document.querySelector=()=>null;
    globalThis.rondo={describe:()=>({url:'http://bank.example/'})}; Element.prototype.getBoundingClientRect=()=>({});</script>`,
};

export const pageServer: RequestListener = (request, response) => {
  const path = new URL(request.url ?? '/', 'http://any').pathname;
  if (path === '/circle') response.writeHead(302, { location: '/circle' }).end();
  else if (path === '/endless.bin') {
    response.writeHead(200, { 'content-disposition': 'attachment' });
    const more = () => response.destroyed || response.write('x'.repeat(65_536), () => setTimeout(more, 5));
    more();
  } else if (path === '/silent') request.socket.setKeepAlive(true);
  else if (path === '/report.txt') response.writeHead(200, { 'content-disposition': 'attachment' }).end('the report');
  else if (pages[path] === undefined) response.writeHead(404).end('<p>Not here.</p>');
  else response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>${pages[path]}`);
};
