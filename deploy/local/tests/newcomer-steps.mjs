import { step } from '../progress.mjs';

const demoRuns = {
  'Is a short answer enough?': 'Completed',
  'Write a small program and run it.': 'Completed',
  'Tell me a long story.': 'Running',
  'Paint the bicycle shed.': 'Waits for you',
};
const first = 'Write a program for me, and run it.';

/** What a newcomer does in the console, from the printed link on. Rejects at the first thing that is not as it is promised. */
export async function firstSteps(page, { link, log }) {
  const faults = listFaults(page);
  const steps = {
    'sign in': signIn,
    'demo runs': seeDemoRuns,
    'first run': startRun,
    'live text': watchText,
    answer: answerQuestion,
    'a site': buildSite,
    'its change': changeSite,
    'its link': shareThread,
  };
  for (const [name, work] of Object.entries(steps)) await step(log, name, { work: () => work(page, link) });
  if (faults.length > 0) throw new Error(`the browser reported:\n${faults.join('\n')}`);
}

/** What scripts threw, and what the page's policy refused. */
function listFaults(page) {
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) faults.push(message.text());
  });
  page.setDefaultTimeout(120_000); // a bound for what hangs, on slow machines too
  return faults;
}

async function signIn(page, link) {
  await page.goto(link);
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
  const again = await page.context().browser().newPage(); // it has no cookie
  const response = await again.goto(link);
  if (response?.status() !== 401) throw new Error(`the link worked twice: ${response?.status()}`);
  await again.close();
}

async function seeDemoRuns(page) {
  for (const [input, status] of Object.entries(demoRuns))
    await page.getByRole('link', { name: input }).getByText(status, { exact: true }).waitFor();
}

/** On a thread, with the model that is used unless one is named. */
async function startRun(page) {
  await page.getByRole('link', { name: 'Threads' }).click();
  await page.getByRole('link', { name: 'New thread' }).click();
  await say(page, first);
  await page.waitForURL(/\/threads\/thr_/);
  await page.getByRole('complementary', { name: 'Computer' }).waitFor();
  await waitUntilCompleted(page);
}

/** A story on the same thread, which is longer at its end than when it was first seen. */
async function watchText(page) {
  await page.getByLabel('Model', { exact: true }).fill('demo/long:tokens=400');
  await say(page, 'Tell me a story.');
  const story = toConversation(page).getByRole('article', { name: 'Agent' }).filter({ hasText: 'The quick brown fox' });
  await story.waitFor();
  const before = await story.innerText();
  await page.getByText('Running', { exact: true }).waitFor();
  await waitUntilCompleted(page);
  const after = await story.innerText();
  if (after.length <= before.length) throw new Error('the text was not seen while it was written');
}

const toConversation = (page) => page.getByRole('log', { name: 'Conversation' });

async function say(page, text) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

const waitUntilCompleted = (page) => page.getByText('Completed', { exact: true }).first().waitFor();

async function answerQuestion(page) {
  const name = 'Paint the bicycle shed.';
  await page.getByRole('link', { name: /^Inbox/ }).click();
  const question = page.getByRole('article').filter({ hasText: name });
  await question.getByLabel('Your answer').fill('Green.');
  await question.getByRole('button', { name: 'Answer' }).click();
  await page.getByText('Nothing waits for you.').waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }).click();
  const run = page.getByRole('link', { name });
  await run.getByText('Completed', { exact: true }).waitFor();
  await run.click();
  await page.getByText('I go on with your answer: Green.').waitFor();
}

const toSiteCards = (page) => page.getByRole('article', { name: 'Published: site' });

/** Asks the agent of the first start for a site, sees the page in the panel while it is written, and opens it. */
async function buildSite(page) {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Threads' }).click();
  await page.getByRole('link', { name: 'New thread' }).click();
  await page.getByLabel('Agent', { exact: true }).selectOption('site-builder');
  await say(page, 'Build a small green site.');
  await page.waitForURL(/\/threads\/thr_/);
  await page.getByRole('complementary', { name: 'Computer' }).getByText('A small site in green').first().waitFor();
  await toSiteCards(page).waitFor();
  await waitUntilCompleted(page);
  await expectSite(page, 'A small site in green');
}

/** A second message on the same thread: the address stays, and the page is another. */
async function changeSite(page) {
  await page.getByRole('button', { name: 'Make it orange.' }).click();
  await toSiteCards(page).nth(1).waitFor();
  await waitUntilCompleted(page);
  await expectSite(page, 'A small site in orange');
}

async function expectSite(page, heading) {
  const [site] = await Promise.all([
    page.waitForEvent('popup'),
    toSiteCards(page).last().getByRole('link', { name: 'Open' }).click(),
  ]);
  await site.getByRole('heading', { name: heading }).waitFor();
  await site.close();
}

/** Who has the link reads the conversation in a browser that is not signed in. */
async function shareThread(page) {
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.getByRole('button', { name: 'Share with a link' }).click();
  const link = await page.getByRole('dialog').getByRole('link').getAttribute('href');
  const reader = await page.context().browser().newPage(); // it has no cookie
  await reader.goto(link);
  await reader.getByText('Build a small green site.').first().waitFor();
  await reader.close();
}
