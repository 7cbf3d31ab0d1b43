console.log('leo-abr');
