export const reportStyle = `:root {
  color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif;
  --line: light-dark(#e2e5ea, #363a42); --muted: light-dark(#5a6270, #9aa2af); --card: light-dark(#fff, #1b1d22);
  --accent: light-dark(#2f6fde, #78a5ff); --right: light-dark(#177245, #55c98f); --wrong: light-dark(#b93a0b, #ff9466);
}
body { max-width: 76rem; margin: 2.5rem auto; padding: 0 1.25rem; background: light-dark(#f7f8fa, #131519); }
h1 { font-size: 1.7rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1rem; }
figure, table { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
figure { padding: 1rem 1.1rem; } figcaption { color: var(--muted); margin-bottom: .7rem; }
svg { width: 100%; height: auto; } svg text { font-size: 13px; fill: currentColor; } svg .name { font-weight: 600; }
.track { fill: var(--line); } .bar { fill: var(--accent); } .range { stroke: currentColor; stroke-width: 1.5; fill: none; }
table { border-collapse: separate; border-spacing: 0; width: 100%; overflow: hidden; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .45rem .8rem; overflow-wrap: anywhere; }
th { color: var(--muted); font-weight: 500; } td { border-top: 1px solid var(--line); } td:first-child { min-width: 9rem; }
.verdict { border: 1px solid; border-radius: 99px; padding: .05rem .55rem; font-size: .85rem; color: var(--muted); }
.verdict.right { color: var(--right); } .verdict.wrong { color: var(--wrong); } .error { color: var(--wrong); }
summary { cursor: pointer; } details p { margin: .3rem 0; white-space: pre-wrap; } .muted { color: var(--muted); font-size: .9rem; }
`;
